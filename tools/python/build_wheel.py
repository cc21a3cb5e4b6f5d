"""Builds the wheel of the package: a backend for pip (PEP 517) that needs CMake and no download.

BUZZER_PYTHON_BUILD names a folder that is kept, so that the next build is short.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DEBIAN = "apt-get install build-essential cmake ninja-build pkg-config libcjson-dev python3-dev"


class CannotBuild(SystemExit):
    def __init__(self, message):
        super().__init__(f"buzzer: {message}")


# --- what there is ------------------------------------------------------------------------------

def _read_version():
    path = os.path.join(ROOT, "CMakeLists.txt")
    if not os.path.isfile(path):
        raise CannotBuild(f"the folder {HERE} was copied out of the sources of Buzzer, which it is "
                          "built from: run pip 21.3 or later on tools/python where it is")
    with open(path, encoding="utf-8") as file:
        return re.search(r"project\(buzzer VERSION ([0-9.]+)", file.read()).group(1)


def _check_tools():
    if sys.version_info < (3, 9):
        raise CannotBuild("Python 3.9 or later is needed")
    if not shutil.which("cmake"):
        raise CannotBuild(f"cmake is missing; on Debian: {DEBIAN}")
    if not (shutil.which("ninja") or shutil.which("make")):
        raise CannotBuild(f"ninja or make is missing; on Debian: {DEBIAN}")
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    if not os.path.isfile(header):
        raise CannotBuild(f"{header} is missing, the headers of this Python; on Debian: {DEBIAN}")


def _run(words, log):
    log.write(f"$ {' '.join(words)}\n")
    log.flush()
    return subprocess.run(words, stdout=log, stderr=subprocess.STDOUT).returncode == 0


def _why(path):
    """The end of the log, and a remedy if the reason is known."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for sign, what in (("cJSON", "cJSON is missing"), ("No CMAKE_C_COMPILER", "gcc is missing"),
                       ("CMake 3.25", "CMake 3.25 or later is needed")):
        if re.search(sign, text) and "CMake Error" in text:
            return f"{what}; on Debian: {DEBIAN}"
    return "the build failed:\n" + "\n".join(text.splitlines()[-25:])


def _build(folder):
    """Builds the extension in the folder; returns its path."""
    log_path = os.path.join(folder, "build.log")
    configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                 "-DBUZZER_TESTS=OFF", "-DBUZZER_INSTALL=OFF",
                 "-DBUZZER_PYTHON=ON",
                 f"-DPython3_EXECUTABLE={sys.executable}", "-DPython3_FIND_VIRTUALENV=ONLY",
                 f"-DPython3_INCLUDE_DIR={sysconfig.get_path('include')}",
                 "-DCMAKE_BUILD_RPATH=$ORIGIN"]  # where the wheel has libraries
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    build = ["cmake", "--build", folder, "--target", "buzzer-python",
             "--parallel", str(os.cpu_count() or 1)]
    print("buzzer: building the module, which takes a minute or more", file=sys.stderr, flush=True)
    with open(log_path, "w", encoding="utf-8") as log:
        is_built = _run(configure, log) and _run(build, log)
    if not is_built:
        raise CannotBuild(_why(log_path))
    return os.path.join(folder, "tools", "python", "buzzer",
                        "_native" + sysconfig.get_config_var("EXT_SUFFIX"))


# --- what it needs besides the C library --------------------------------------------------------

_GLIBC = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.|ld-linux")


def _headers(path):
    return subprocess.run(["objdump", "-p", path], capture_output=True, text=True).stdout


def _libraries(extension):
    """The paths of the shared libraries that few systems have: the wheel brings them along."""
    linked = subprocess.run(["ldd", extension], capture_output=True, text=True).stdout
    needed = re.findall(r"NEEDED +(\S+)", _headers(extension))
    paths = dict(re.findall(r"(\S+) => (/\S+)", linked))
    return [paths[name] for name in needed if name in paths and not _GLIBC.match(name)]


def _platform(extension):
    """The tag of PEP 600, "manylinux_2_34_x86_64": the oldest glibc that has all symbols; elsewhere
    that of this system."""
    own = re.sub(r"[-. ]", "_", sysconfig.get_platform())
    versions = [int(minor) for path in (extension, *_libraries(extension))
                for minor in re.findall(r"GLIBC_2\.(\d+)", _headers(path))]
    return own.replace("linux", f"manylinux_2_{max(17, *versions)}") if versions else own


# --- the wheel ----------------------------------------------------------------------------------

def _metadata(version):
    return (f"Metadata-Version: 2.1\nName: buzzer\nVersion: {version}\n"
            "Summary: Deterministic simulation and replay for asyncio primitives\n"
            "Requires-Python: >=3.9\n"
            "Provides-Extra: hypothesis\n"
            "Requires-Dist: hypothesis>=5.17; extra == 'hypothesis'\n"
            "Classifier: Framework :: Pytest\nClassifier: Framework :: AsyncIO\n")


def _tag(extension):
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{python}-{python}-{_platform(extension)}"


def _information(version, tag):
    """The files of dist-info but for RECORD."""
    return (("METADATA", _metadata(version)),
            ("WHEEL", "Wheel-Version: 1.0\nGenerator: buzzer\nRoot-Is-Purelib: false\n"
                      f"Tag: {tag}\n"),
            ("entry_points.txt", "[pytest11]\nbuzzer = buzzer.pytest_plugin\n"))


def _files(extension, version, libraries=()):
    """The content of the wheel by path."""
    package = os.path.join(HERE, "buzzer")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py"):
            with open(os.path.join(package, name), "rb") as file:
                yield f"buzzer/{name}", file.read()
    for path in (extension, *libraries):
        with open(path, "rb") as file:
            yield "buzzer/" + os.path.basename(path), file.read()
    for name, text in _information(version, _tag(extension)):
        yield f"buzzer-{version}.dist-info/{name}", text.encode()


def pack(extension, folder):
    """Writes the wheel of an extension that is built; returns its name."""
    version = _read_version()
    name = f"buzzer-{version}-{_tag(extension)}.whl"
    records = []
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in _files(extension, version, _libraries(extension)):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            records.append(f"{path},sha256={digest.decode()},{len(content)}")
            wheel.writestr(path, content)
        record = f"buzzer-{version}.dist-info/RECORD"
        wheel.writestr(record, "\n".join([*records, f"{record},,", ""]))
    return name


def unpack(extension, folder):
    """Writes what the wheel of an extension holds into a folder on the path of Python, but no
    RECORD: a package manager keeps records of its own."""
    for path, content in _files(extension, _read_version()):
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)


# --- what pip calls -----------------------------------------------------------------------------

def get_requires_for_build_wheel(config_settings=None):
    _read_version()
    _check_tools()
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    version = _read_version()
    name = f"buzzer-{version}.dist-info"
    os.makedirs(os.path.join(metadata_directory, name), exist_ok=True)
    for file_name, text in _information(version, "py3-none-any"):  # the wheel has its own
        path = os.path.join(metadata_directory, name, file_name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _read_version()
    _check_tools()
    kept = os.environ.get("BUZZER_PYTHON_BUILD")
    with tempfile.TemporaryDirectory(prefix="buzzer-wheel.") as temporary:
        folder = os.path.abspath(kept) if kept else temporary
        os.makedirs(folder, exist_ok=True)
        return pack(_build(folder), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise CannotBuild("there is no sdist of the package alone: it is built from all of Buzzer's "
                      "sources; build a wheel")


if __name__ == "__main__":
    if sys.argv[1] == "--unpack":
        unpack(sys.argv[2], sys.argv[3])
        sys.exit()
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
