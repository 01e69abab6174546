// Autorelease pools for threads without one.
#pragma once

// Gives an outermost pool to this thread, and from now on to threads that NSThread starts and threads that use
// Foundation.
void give_threads_pools();
