// Package openfiles knows how many files this process may have open.
package openfiles
