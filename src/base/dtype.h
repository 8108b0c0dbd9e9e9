// The types of stored numbers, for folders that see nothing of kernels.
#pragma once

#include "kernels/common/dtype.h"
