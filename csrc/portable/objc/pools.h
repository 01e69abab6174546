// Autorelease pools for threads that have none.
#pragma once

// From now on this thread, those that NSThread starts and those that use Foundation have a pool under those that
// programs make.
void give_threads_pools();
