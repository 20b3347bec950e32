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

// The preamble keeps glibc from giving each thread its own arena, up to eight per processor. An arena keeps memory that
// was freed in it: 600 connections took 760 MiB, and take 220. Arenas would gain nothing: SQLite's memory statistics
// are on, so every allocation takes one lock.
