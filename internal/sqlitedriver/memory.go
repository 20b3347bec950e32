//go:build cgo && linux

package sqlitedriver

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// go-sqlite3's, which is linked later.
__attribute__((weak)) extern int sqlite3_config(int, ...);

// Before Go has threads, since those that have an arena keep it, and before SQLite takes what is configured.
__attribute__((constructor)) static void little(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
#endif
	if (!sqlite3_config) return;
	sqlite3_config(13, 1200, 8);                 // SQLITE_CONFIG_LOOKASIDE: 40
	sqlite3_config(7, (void *)0, (int)0, (int)0); // SQLITE_CONFIG_PAGECACHE: 20
}
*/
import "C"

// The preamble keeps glibc from giving each thread its own arena, up to eight per processor. An arena keeps memory that
// was freed in it: 600 connections took 760 MiB, then took 220. Arenas would gain nothing: SQLite's memory statistics
// are on, so every allocation takes one lock.
//
// Each connection takes 9.6 kB for small objects rather than 48 kB, and pages one by one rather than the first 20 at
// once (88 kB). A connection for each of 1,000 files uses few of them.
