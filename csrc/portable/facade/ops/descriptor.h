// The common part of the descriptors of ops.
#pragma once

#include "facade/descriptor.h"
#include "facade/graph/build.h"
