"""The two kernels: what they set, and that book-gpu will not run on a CPU."""

import json
import os
import subprocess
import sys

import pytest

from tools.kernels import GPU_LAUNCHER, write_kernels


@pytest.fixture
def specs(tmp_path):
    write_kernels(tmp_path)
    return {
        path.parent.name: json.loads(path.read_text())
        for path in tmp_path.glob("*/kernel.json")
    }


def test_both_kernels_run_this_python_with_one_thread(specs):
    assert specs.keys() == {"book-cpu", "book-gpu"}
    for spec in specs.values():
        assert spec["argv"][0] == sys.executable
        assert spec["env"]["OMP_NUM_THREADS"] == "1"
        assert spec["env"]["MKL_NUM_THREADS"] == "1"
        assert spec["env"]["PYTHONHASHSEED"] == "0"
        assert spec["env"]["TQDM_DISABLE"] == "1"


def test_each_kernel_has_its_device(specs):
    cpu, gpu = specs["book-cpu"]["env"], specs["book-gpu"]["env"]
    assert cpu["BOOK_DEVICE"] == "cpu" and cpu["CUDA_VISIBLE_DEVICES"] == ""
    assert gpu["BOOK_DEVICE"] == "cuda" and "CUDA_VISIBLE_DEVICES" not in gpu
    assert gpu["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert specs["book-gpu"]["argv"][1] == str(GPU_LAUNCHER)


@pytest.mark.slow
def test_the_gpu_kernel_refuses_to_start_without_a_gpu():
    result = subprocess.run(
        [sys.executable, str(GPU_LAUNCHER)],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=600,  # of a busy machine
    )
    assert result.returncode == 1
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("book-gpu needs a GPU")
