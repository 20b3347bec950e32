//go:build cgo

package sqlitedriver

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
// Before Go has threads: those that have an arena keep it.
__attribute__((constructor)) static void oneArena(void) { mallopt(M_ARENA_MAX, 1); }
#endif
*/
import "C"

// The preamble keeps glibc from giving threads arenas of their own, up to eight a processor, each of which holds what was
// freed in it: 600 connections took 760 MiB, and take 220. SQLite takes one lock for whatever it allocates, since its
// memory statistics are on; so arenas let nothing happen at the same time.
