// Package oracle lays tables out on the datafiles of tablespaces of an existing
// Oracle database, 12.2 or later: N files of a smallfile tablespace, or the one
// file of a bigfile tablespace. It has been checked against the vendor's grammar
// and not yet been run against the product.
//
// # What a build is, and why nothing else can be harmed
//
// A build is a tablespace under a name of package marker, in it a table of the same
// name that carries the marker as its comment, and the workload's tables; a second
// tablespace with its own name and marker if indexes lie apart; and a
// package and procedures. Tables, package and procedures are in the connecting
// account's own schema and begin with the build's name, so the account needs no
// right on any other schema. It does need CREATE, ALTER and DROP TABLESPACE, which
// are powerful: with them an account could drop any tablespace. What keeps
// Filewise from it:
//
//   - Every tablespace that is altered or dropped is one whose name marker.IsName
//     accepts (12 random letters and a checksum of them) and whose marker was read
//     from the server right before. There is no other way to a statement that
//     alters or drops: all go through type owned, in markers.go.
//   - Tablespaces carry no comment of their own, and CREATE TABLESPACE can be given
//     none; so between it and the marker there are two moments at which a killed run
//     leaves something unmarked: a tablespace without any segment, and one with
//     nothing except the marker table, empty and in the account's schema. Exactly these
//     two count as unmarked leftovers; and one that is offline with nothing except what a
//     dropped table leaves, for its drop was interrupted.
//   - Before a drop the tablespace is taken offline, as the vendor advises; from
//     then on no one can create anything in it. Only then are its segments listed
//     and the marker is read again. A segment that is not Filewise's, of any account and in
//     the recycle bin too, brings the tablespace online again and ends the drop.
//     The markers are comments, so they can be read offline, also after a crash
//     between the two.
//   - DROP TABLESPACE has no CASCADE CONSTRAINTS: a foreign key of someone
//     else's that refers to Filewise's tables stops it.
//   - CREATE TABLESPACE and ADD DATAFILE never say REUSE: the server refuses a file
//     that exists. Files that grow have a MAXSIZE, so that they cannot fill the
//     server's storage.
//   - A build that is dropped ends in this order: procedures and package, index
//     tablespace, data tablespace. The marker of the data tablespace, by which the
//     rest is found, goes last.
//   - No statement sets anything of the server or reads a licensed view; a test
//     reads every statement for such words.
package oracle
