// Package external holds what engines share on a server that exists without Filewise. What a run has made there is
// found and removed only by its marker (Leftovers, Remove). One run measures at a time (Lock). The server is examined
// first (Examination). The engine supplies the SQL through small interfaces.
package external
