// Package openfiles returns how many files this process may have open.
package openfiles
