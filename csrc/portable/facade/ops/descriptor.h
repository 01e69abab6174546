// What the descriptors of ops have in common.
#pragma once

#include "facade/descriptor.h"
#include "facade/graph/build.h"
