"""Files in a folder where strangers may have put anything: links, pipes, devices, endless files.

The course command and the progress file read and write through this module alone;
`tests/test_guards.py` checks that. `SafeFolder` opens every folder below its own without following
links, relative to the folder above it, so that nothing can be swapped between a check and its use.
Windows cannot open relative to a folder: there each part is looked at first.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .wording import gettext

if sys.platform == "win32":
    import msvcrt
else:
    try:
        import fcntl
    except ImportError:
        # The Python of a browser leaves it out: nobody else has its files.
        fcntl = None  # type: ignore[assignment]

LIMIT = 32 * 2**20
"""Maximum size of a file that is read: fifty times the largest lesson, with room for pictures."""

# Not every system has every flag, and a missing one is no flag.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0)
_CAN_OPEN_RELATIVE = os.open in os.supports_dir_fd and _NO_FOLLOW != 0
_OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOSE_ON_EXEC
_PLAIN = getattr(os, "O_BINARY", 0) | _NO_FOLLOW | _CLOSE_ON_EXEC
# A file may be swapped for a named pipe after the check. To open one blocks until somebody writes.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _PLAIN
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
# What file systems without locks say, some of those on a network.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
_LOCK_SECONDS = 10.0
"""How long to wait for a lock that another process holds."""


class RefusedFileError(OSError):
    """A file that is not read or written because of what it is; `strerror` says why in words."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(errno.EINVAL, why, name)


class RelativePath(NamedTuple):
    """A file for the functions of `os`: a name in an open folder, or a whole path and no folder."""

    leaf: str
    folder: int | None


class SafeFolder:
    """A folder, and what is read and written below it by names such as `solutions/02_clone.ipynb`.

    The folder itself may be a link: it is the user who names it. Below it no link is followed, and
    only regular files are read or replaced. Methods raise RefusedFileError for anything else and
    for names that lead out of the folder, and OSError as the system does.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Make the folder and those above it, as far as they are missing."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            # "File exists" is of no help to somebody who named a loop of links, or a file. For a
            # loop `stat` raises the error that says so.
            self.path.stat()
            code = errno.ENOTDIR
            raise NotADirectoryError(code, os.strerror(code), str(self.path)) from None

    def make_folder(self, name: str) -> None:
        """Make a folder below this one; it may be there."""
        with self._enter_folder(f"{name}/_", create=True):
            pass

    def has(self, name: str) -> bool:
        """Return True if there is anything of this name, a link that leads nowhere included."""
        try:
            with self._enter_folder(name) as place:
                os.stat(place.leaf, dir_fd=place.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def list_files(self, folder: str = "") -> list[str]:
        """Return the names of the regular files in the folder, or in one below it, in order."""
        with self._scan_folder(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))

    def walk(self, folder: str = "", depth: int = 6) -> Iterator[str]:
        """Yield the names of the files in a folder and in those below it, in order.

        What is hidden, such as the checkpoints of Jupyter, is left out, and so are links and what is
        more than `depth` folders down.
        """
        above = f"{folder}/" if folder else ""
        for name in self.list_files(folder):
            if not name.startswith("."):
                yield above + name
        for name in self.list_folders(folder) if depth else ():
            if not name.startswith("."):
                yield from self.walk(above + name, depth - 1)

    def list_folders(self, folder: str = "") -> list[str]:
        """Return the names of the folders in the folder, or in one below it, in order; no links."""
        with self._scan_folder(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))

    def require_files_only(self, folder: str) -> None:
        """Raise RefusedFileError if a folder below this one contains anything but regular files."""
        with self._scan_folder(folder) as entries:
            for entry in entries:
                _require_regular(f"{folder}/{entry.name}", entry.stat(follow_symlinks=False))

    def read(self, name: str, limit: int = LIMIT) -> bytes:
        """Return the content of a regular file of at most `limit` bytes."""
        with self._enter_folder(name) as place:
            # Looked at before it is opened: to open a device can already do something.
            _require_regular(name, os.stat(place.leaf, dir_fd=place.folder, follow_symlinks=False))
            return _read_up_to_limit(name, os.open(place.leaf, _READ, dir_fd=place.folder), limit)

    def write(self, name: str, content: bytes, *, keep_old_as: str | None = None) -> None:
        """Replace a file as a whole: readers see the old or the new one, whenever this is cut off.

        It is never written in place, so a hard link elsewhere keeps its content. The mode stays.
        keep_old_as: rename what is there to this name in the same folder, once the new file is on
        the disk.
        """
        with self._enter_folder(name, create=True) as place:
            mode = self._mode_to_keep(name, place, keep_old_as is not None)
            part = _name_beside(place.leaf, f".{Path(place.leaf).name}.part")
            # Left by a process that was ended, or a link to somewhere else.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part, dir_fd=place.folder)
            descriptor = os.open(part, _CREATE, 0o666, dir_fd=place.folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    if mode is not None and hasattr(os, "fchmod"):
                        # Some file systems have no modes.
                        with contextlib.suppress(PermissionError):
                            os.fchmod(descriptor, mode)
                    file.write(content)
                    file.flush()
                    # Otherwise a power cut could leave an empty file of the new name.
                    os.fsync(descriptor)
                if keep_old_as is not None:
                    self._rename(place, keep_old_as)
                os.replace(part, place.leaf, src_dir_fd=place.folder, dst_dir_fd=place.folder)
            # An interrupt, too, must leave no part of a file behind.
            except BaseException:
                os.unlink(part, dir_fd=place.folder)
                raise

    def rename(self, name: str, new_name: str) -> None:
        """Rename a thing of any kind within its folder; `new_name` has no folder and is free."""
        with self._enter_folder(name) as place:
            self._rename(place, new_name)

    def remove(self, name: str) -> None:
        """Remove a file, or a link and not what it leads to."""
        with self._enter_folder(name) as place:
            os.unlink(place.leaf, dir_fd=place.folder)

    def find_free_name(self, name: str, pattern: str) -> str:
        """Return a name that nothing has in the folder of `name`.

        It is `pattern` with "", "2", "3" and so on in the place of `{}`.
        """
        folder = name[: name.rfind("/") + 1]
        number = 1
        while self.has(folder + (free := pattern.format("" if number == 1 else number))):
            number += 1
        return free

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keep out other processes that ask for the lock. It ends with the process.

        Raises OSError if another process holds it for ten seconds.
        """
        # The folder itself is locked: a lock file cannot be made in a folder that may only be read,
        # and would stay in any other, as that of filelock 4.3.1 does.
        # Windows locks no folders.
        lock_file = self.path / ".copylab.lock"
        if sys.platform == "win32":
            if self.has(lock_file.name):
                _require_regular(lock_file.name, lock_file.lstat())
            lock = os.open(lock_file, os.O_CREAT | os.O_RDWR)
        else:
            lock = os.open(self.path, _OPEN_FOLDER)
        try:
            deadline = time.monotonic() + _LOCK_SECONDS
            while not _try_to_lock(lock):
                if time.monotonic() > deadline:
                    why = gettext("another process is writing to it")
                    raise OSError(errno.EAGAIN, why, str(self.path))
                time.sleep(0.01)
            yield
        finally:
            os.close(lock)
            if sys.platform == "win32":
                # Windows removes no file that another process has opened.
                with contextlib.suppress(OSError):
                    lock_file.unlink()

    @contextlib.contextmanager
    def _scan_folder(self, folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        """List a folder without following a link to it."""
        with self._enter_folder(f"{folder}/_" if folder else "_") as place:
            opened = Path(place.leaf).parent if place.folder is None else place.folder
            with os.scandir(opened) as entries:
                yield entries

    @contextlib.contextmanager
    def _enter_folder(self, name: str, *, create: bool = False) -> Iterator[RelativePath]:
        """Go down to the folder of a file, following no link; `create`: make missing folders.

        Errors of the system inside name the file as it was asked for.
        """
        *folders, leaf = name.split("/")
        if not all(map(_is_plain, [*folders, leaf])):
            raise RefusedFileError(name, gettext("its name leads out of the folder"))
        try:
            with self._open_folders(folders, create) as (inner, opened):
                yield RelativePath(str(inner / leaf) if opened is None else leaf, opened)
        except RefusedFileError:
            raise
        except OSError as error:
            error.filename = name
            raise

    @contextlib.contextmanager
    def _open_folders(self, folders: list[str], create: bool) -> Iterator[tuple[Path, int | None]]:
        """Open the last of these folders, each in the one before, and give its path and descriptor.

        Without a descriptor where folders cannot be opened: there each is looked at.
        """
        inner = self.path
        opened = os.open(inner, _OPEN_FOLDER) if _CAN_OPEN_RELATIVE else None
        try:
            for part in folders:
                inner = inner / part
                address = str(inner) if opened is None else part
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(address, dir_fd=opened)
                _require_folder(part, os.stat(address, dir_fd=opened, follow_symlinks=False))
                if opened is not None:
                    outer = opened
                    opened = os.open(address, _OPEN_FOLDER | _NO_FOLLOW, dir_fd=outer)
                    os.close(outer)
            yield inner, opened
        finally:
            if opened is not None:
                os.close(opened)

    def _mode_to_keep(self, name: str, place: RelativePath, is_renamed: bool) -> int | None:
        """Return the mode of a file to be replaced, None if there is none.

        Raises RefusedFileError for anything but a file, unless it is to be renamed.
        """
        try:
            old = os.stat(place.leaf, dir_fd=place.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not is_renamed:
            _require_regular(name, old)
        return stat.S_IMODE(old.st_mode) & 0o777 if stat.S_ISREG(old.st_mode) else None

    def _rename(self, place: RelativePath, new_name: str) -> None:
        target = _name_beside(place.leaf, new_name)
        os.rename(place.leaf, target, src_dir_fd=place.folder, dst_dir_fd=place.folder)


def read_file(path: Path, limit: int = LIMIT) -> bytes:
    """Return the content of a file of the package's own: a regular one of at most `limit` bytes."""
    _require_regular(path.name, path.stat())
    return _read_up_to_limit(path.name, os.open(path, _READ & ~_NO_FOLLOW), limit)


def read_text(path: Path) -> str:
    """Return the text of a file that the package brings."""
    return read_file(path).decode("utf-8").replace("\r\n", "\n")


def is_regular_file(path: Path) -> bool:
    """Return True for a file, False for a link to one and for what is missing or cannot be seen."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def resolve_folder(path: Path) -> Path:
    """Return a folder that the user names, without `~` and links; a loop of links stays as it is.

    Raises OSError if there is no such home.
    """
    try:
        # Path.resolve raises RuntimeError at a loop of links until Python 3.12.
        return Path(os.path.realpath(path.expanduser()))
    except RuntimeError as error:
        raise OSError(errno.ENOENT, str(error), str(path)) from error


def can_write_in(folder: Path) -> bool:
    """Return True if a folder is there, made now if it was missing, and may be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def explain_error(error: OSError) -> str:
    """Return what a system error says to somebody who does not know its number."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def _is_plain(part: str) -> bool:
    """Return True for a name in a folder, False for one that leads elsewhere."""
    separators = "\0/\\:" if os.name == "nt" else "\0/"
    return part not in ("", ".", "..") and not any(letter in part for letter in separators)


def _name_beside(leaf: str, name: str) -> str:
    if not _is_plain(name):
        raise RefusedFileError(name, gettext("its name leads out of the folder"))
    return str(Path(leaf).with_name(name))


def _require_regular(name: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RefusedFileError(name, _describe_kind(status))


def _require_folder(name: str, status: os.stat_result) -> None:
    # A junction of Windows is a folder to `S_ISDIR`, and leads elsewhere as a link does.
    tag = getattr(status, "st_reparse_tag", 0)
    if tag and tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None):
        raise RefusedFileError(name, gettext("it is a link, and links are not followed"))
    if not stat.S_ISDIR(status.st_mode):
        is_link = stat.S_ISLNK(status.st_mode)
        raise RefusedFileError(
            name, _describe_kind(status) if is_link else gettext("it is not a folder")
        )


def _describe_kind(status: os.stat_result) -> str:
    """Return why something is not read or replaced."""
    if stat.S_ISLNK(status.st_mode):
        return gettext("it is a link, and links are not followed")
    return gettext("it is not a file")


def _read_up_to_limit(name: str, handle: int, limit: int) -> bytes:
    with os.fdopen(handle, "rb") as file:
        _require_regular(name, os.fstat(handle))
        content = file.read(limit + 1)
    if len(content) > limit:
        megabytes = f"{limit / 2**20:g}"
        raise RefusedFileError(name, gettext("it is larger than {number} MB", number=megabytes))
    return content


def _try_to_lock(lock: int) -> bool:
    """Return True if the lock is taken now, or if the file system or the system knows no locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        elif fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # What flock and msvcrt raise while another process holds the lock.
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True
