// Package openfiles reads and raises the limit of files that this process may have open.
package openfiles
