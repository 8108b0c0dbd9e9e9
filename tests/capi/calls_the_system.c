// A library with a call of the system that check_system_calls.py does not know.
#include <sys/file.h>

int lock_it(int fd);

int lock_it(int fd) { return flock(fd, LOCK_EX); }
