"""The built website as a zip that opens without a network: `make offline`."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from book._ext.book_site.pages import downloads
from tools.source.taught import ROOT

SITE = ROOT / "_build" / "html"
FOLDER = "the-executable-transformer"  # into which the zip unpacks
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same site is the same zip
README = """\
The Executable Transformer

Open index.html in a browser. The pages need no server and no network;
search, mathematics and figures are all in this folder.
"""
WITH_PDF = f"The whole book is also one file, downloads/{downloads.PDF}.\n"


def files(site: Path) -> list[Path]:
    """What a reader needs; no zip, which could only be the one before."""
    left = {".zip", ".part", ".buildinfo"}
    return [
        path
        for path in sorted(site.rglob("*"))
        if path.is_file() and not left & {path.suffix, path.name}
    ]


def content(path: Path, site: Path) -> bytes:
    """A file of the zip; the page of downloads names only what is in it."""
    if path != site / f"{downloads.PAGE}.html":
        return path.read_bytes()
    pdf = site / downloads.FOLDER / downloads.PDF
    sizes = {pdf.name: pdf.stat().st_size} if pdf.exists() else {}
    return downloads.listed(path.read_text("utf-8"), sizes).encode()


def pack(site: Path, target: Path) -> None:
    """Write the zip, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    has_pdf = (site / downloads.FOLDER / downloads.PDF).exists()
    with ZipFile(part, "w") as packed:
        add(packed, "README.txt", (README + WITH_PDF * has_pdf).encode())
        for path in files(site):
            name = path.relative_to(site).as_posix()
            add(packed, name, content(path, site))
    part.replace(target)


def add(packed: ZipFile, name: str, data: bytes) -> None:
    """Add a file that anybody may read."""
    info = ZipInfo(f"{FOLDER}/{name}", LONG_AGO)
    info.external_attr = 0o644 << 16
    packed.writestr(info, data, ZIP_DEFLATED)


def main() -> None:
    """Pack the site of `make book` and name the zip on its page."""
    target = SITE / downloads.FOLDER / downloads.OFFLINE
    pack(SITE, target)
    downloads.show(SITE)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
