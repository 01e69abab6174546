// The name under which GNUstep's Foundation looks for the blocks runtime.
#pragma once

#include <Block.h>
