"""JupyterHub for one class on one machine.

    cd tools/editions/classroom
    CLASS_PASSWORD=... jupyterhub -f jupyterhub_config.py

Everybody who knows the password comes in under a name of their own. That is
enough for a week on a machine in the next room; `book/teach/hub.md` says what
to change for a term, and for students whom you do not know.
"""

import os
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("CLASS_FOLDER", "class")).resolve()
HOMES = FOLDER / "homes"
HOMES.mkdir(parents=True, exist_ok=True)

c = get_config()  # noqa: F821

c.JupyterHub.bind_url = os.environ.get("CLASS_URL", "http://127.0.0.1:8000")
c.JupyterHub.cookie_secret_file = str(FOLDER / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{FOLDER / 'hub.sqlite'}"
c.ConfigurableHTTPProxy.pid_file = str(FOLDER / "proxy.pid")

# Who may come in.
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = os.environ["CLASS_PASSWORD"]
c.Authenticator.allow_all = True

# A process and a folder for each student.
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(HOMES / "{username}")
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root"] if os.geteuid() == 0 else []
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
