#include "src/base/system_error.h"

#include <cerrno>

#include "src/base/format.h"

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
    {ETXTBSY, Code::io, "the program file is in use"},
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

Status described(int number, const char* format, va_list args) {
  Status out{.code = Code::io, .native_code = number};
  append_format_list(out.message, format, args);
  for (const SystemError& e : kErrors) {
    if (e.number != number) continue;
    out.code = e.code;
    append_format(out.message, ": %s", e.text);
    return out;
  }
  append_format(out.message, ": error %d of the system", number);
  return out;
}

}  // namespace

std::span<const SystemError> system_errors() { return kErrors; }

Status system_error(int number, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Status out = described(number, format, args);
  va_end(args);
  return out;
}

Status thread_error(int number, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Status out = described(number, format, args);
  va_end(args);
  out.code = Code::out_of_memory;
  return out;
}

}  // namespace inlay
