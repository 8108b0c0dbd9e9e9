#include "src/base/system_error.h"

#include <cerrno>

#include "src/base/format.h"
#ifdef _WIN32
#include "src/base/windows_api.h"
#endif

namespace inlay {
namespace {

constexpr SystemError kErrors[] = {
    {ENOENT, Code::not_found, "no such file or folder"},
    {ENOTDIR, Code::not_found, "a part of the path is no folder"},
    {ENOMEM, Code::out_of_memory, "the system has no memory for it"},
    {EAGAIN, Code::out_of_memory, "a limit of the system is reached"},
    {EPERM, Code::io, "the system does not permit it"},
    {EACCES, Code::io, "permission denied"},
    {EROFS, Code::io, "the file system is read-only"},
    {ENOSPC, Code::io, "no space is left on the device"},
#ifdef EDQUOT
    {EDQUOT, Code::io, "the user's quota of the disk is used up"},
#endif
    {EFBIG, Code::io, "the file would be larger than the process or the file system may write"},
    {EIO, Code::io, "the device failed"},
    {ENXIO, Code::io, "no such device"},
    {ENODEV, Code::io, "the device cannot do it"},
    {EISDIR, Code::io, "it is a folder"},
    {EEXIST, Code::io, "it is there already"},
    {ENOTEMPTY, Code::io, "the folder is not empty"},
    {EXDEV, Code::io, "it is on another file system"},
    {EMFILE, Code::io, "the process has too many open files"},
    {ENFILE, Code::io, "the system has too many open files"},
    {ENAMETOOLONG, Code::io, "the path is too long"},
    {ELOOP, Code::io, "too many symbolic links"},
    {EMLINK, Code::io, "too many links"},
    {EOVERFLOW, Code::io, "the file is too large"},
    {EINVAL, Code::io, "the system refuses the arguments"},
    {EBADF, Code::io, "the file was closed by somebody else"},
    {EFAULT, Code::io, "the memory cannot be accessed"},
    {EINTR, Code::io, "a signal interrupted it"},
    {EBUSY, Code::io, "it is in use"},
#ifdef ETXTBSY
    {ETXTBSY, Code::io, "the program file is in use"},
#endif
    {ESPIPE, Code::io, "it has no positions to read from"},
    {EPIPE, Code::io, "the reader is gone"},
    {ETIMEDOUT, Code::io, "the time ran out"},
#ifdef ESTALE
    {ESTALE, Code::io, "the file is gone from its server"},
#endif
    {EDEADLK, Code::io, "it would wait for itself"},
    {ENOSYS, Code::unsupported, "the system does not know the call"},
    {ENOTSUP, Code::unsupported, "the file system cannot do it"},
};

#ifdef _WIN32
constexpr SystemError kWindowsErrors[] = {
    {ERROR_FILE_NOT_FOUND, Code::not_found, "no such file or folder"},
    {ERROR_PATH_NOT_FOUND, Code::not_found, "no such folder"},
    {ERROR_INVALID_DRIVE, Code::not_found, "no such drive"},
    {ERROR_BAD_NETPATH, Code::not_found, "the network has no such path"},
    {ERROR_BAD_NET_NAME, Code::not_found, "the server has no share of this name"},
    {ERROR_MOD_NOT_FOUND, Code::not_found, "the library, or one that it needs, is not there"},
    {ERROR_PROC_NOT_FOUND, Code::not_found, "the library has no such function"},
    {ERROR_INVALID_NAME, Code::io, "Windows permits no such name"},
    {ERROR_BAD_PATHNAME, Code::io, "Windows permits no such path"},
    {ERROR_DIRECTORY, Code::io, "it is no folder"},
    {ERROR_FILENAME_EXCED_RANGE, Code::io, "the path is too long"},
    {ERROR_CANT_RESOLVE_FILENAME, Code::io, "too many symbolic links"},
    {ERROR_ACCESS_DENIED, Code::io, "access denied"},
    {ERROR_SHARING_VIOLATION, Code::io, "another program has it open"},
    {ERROR_LOCK_VIOLATION, Code::io, "another program has locked it"},
    {ERROR_USER_MAPPED_FILE, Code::io, "another program has mapped it"},
    {ERROR_DELETE_PENDING, Code::io, "it is being deleted"},
    {ERROR_WRITE_PROTECT, Code::io, "the disk is write-protected"},
    {ERROR_NOT_READY, Code::io, "the device is not ready"},
    {ERROR_CRC, Code::io, "the device failed"},
    {ERROR_IO_DEVICE, Code::io, "the device failed"},
    {ERROR_DISK_FULL, Code::io, "no space is left on the device"},
    {ERROR_HANDLE_DISK_FULL, Code::io, "no space is left on the device"},
    {1295 /* ERROR_DISK_QUOTA_EXCEEDED */, Code::io, "the user's quota of the disk is used up"},
    {ERROR_FILE_TOO_LARGE, Code::io, "the file would be larger than the file system permits"},
    {ERROR_FILE_EXISTS, Code::io, "it is there already"},
    {ERROR_ALREADY_EXISTS, Code::io, "it is there already"},
    {ERROR_TOO_MANY_OPEN_FILES, Code::io, "the process has too many open files"},
    {ERROR_NOT_SAME_DEVICE, Code::io, "it is on another drive"},
    {ERROR_UNABLE_TO_REMOVE_REPLACED, Code::io, "what is there cannot be replaced"},
    {ERROR_UNABLE_TO_MOVE_REPLACEMENT, Code::io, "what is there cannot be replaced"},
    {ERROR_BROKEN_PIPE, Code::io, "the other end is gone"},
    {ERROR_INVALID_PARAMETER, Code::io, "the system refuses the arguments"},
    {ERROR_BAD_EXE_FORMAT, Code::unsupported, "it is no library for 64-bit Windows on this processor"},
    {ERROR_NOT_SUPPORTED, Code::unsupported, "the file system cannot do it"},
    {ERROR_NOT_ENOUGH_MEMORY, Code::out_of_memory, "the system has no memory for it"},
    {ERROR_OUTOFMEMORY, Code::out_of_memory, "the system has no memory for it"},
    {ERROR_COMMITMENT_LIMIT, Code::out_of_memory, "the system has no memory for it"},
    {ERROR_NO_SYSTEM_RESOURCES, Code::out_of_memory, "a limit of the system is reached"},
};
#endif

Status described(std::span<const SystemError> errors, int number, const char* format, va_list args) {
  Status out{.code = Code::io, .native_code = number};
  append_format_list(out.message, format, args);
  for (const SystemError& e : errors) {
    if (e.number != number) continue;
    out.code = e.code;
    append_format(out.message, ": %s", e.text);
    return out;
  }
  append_format(out.message, ": error %d of the system", number);
  return out;
}

#ifdef _WIN32
constexpr std::span<const SystemError> kThreadErrors = kWindowsErrors;
#else
constexpr std::span<const SystemError> kThreadErrors = kErrors;
#endif

}  // namespace

std::span<const SystemError> system_errors() { return kErrors; }

#ifdef _WIN32
Status windows_error(unsigned long number, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Status out = described(kWindowsErrors, static_cast<int>(number), format, args);
  va_end(args);
  return out;
}
#endif

Status system_error(int number, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Status out = described(kErrors, number, format, args);
  va_end(args);
  return out;
}

Status thread_error(int number, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Status out = described(kThreadErrors, number, format, args);
  va_end(args);
  out.code = Code::out_of_memory;
  return out;
}

}  // namespace inlay
