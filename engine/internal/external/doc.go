// Package external holds what engines have in common on a server that exists without
// Filewise. What a run has made there is found by its mark and removed by nothing
// else (Leftovers, Remove). One run measures at a time (Lock). A server is looked
// at before (Examination). The engine gives the SQL, by small interfaces.
package external
