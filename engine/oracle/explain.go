package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sijms/go-ora/v2/network"

	"filewise"
	"filewise/engine/internal/external"
)

// classes maps classes to the server's error numbers (Oracle Database Error Messages).
var classes = external.Classes{
	filewise.ClassDeadlock:      {60, 4020},
	filewise.ClassSerialization: {8177, 8176},
	filewise.ClassLockTimeout:   {54, 30006, 4021, 51},
	// Syntax, names, numbers of values, rights.
	filewise.ClassMistake: {900, 902, 903, 904, 905, 906, 907, 908, 909, 911, 913, 917, 918, 920, 921, 922, 923, 924, 925, 926, 927, 928, 933,
		934, 935, 936, 937, 942, 947, 972, 979, 1008, 1031, 1036, 1747, 1756, 2289, 4043, 6550},
	filewise.ClassDuplicate:  {1},
	filewise.ClassConstraint: {1400, 2290, 2291, 2292, 12899},
	// No space in the tablespace (1653 … 1658), on the server's storage (19502, 19504, 27072, 27044, 15041 ASM), in the
	// PDB (65114) or in a quota (1536).
	filewise.ClassSpace: {1652, 1653, 1654, 1655, 1656, 1658, 1659, 1688, 1691, 3206, 3232, 1144, 19502, 19504, 27044, 27063, 27072, 15041,
		65114, 1536, 30036, 257, errFreeFull, errFreeFull + 1},
	filewise.ClassConnection: {28, 1012, 1033, 1034, 1035, 1089, 1090, 1092, 2396, 3113, 3114, 3135, 12152, 12170, 12203,
		12500, 12502, 12505, 12514, 12516, 12518, 12519, 12520, 12521, 12523, 12526, 12528, 12535, 12537, 12541, 12543,
		12545, 12547, 12560, 12564, 12570, 12571, 12583, 25408, 17002, 18, 20, 2391},
}

// tooMany lists the errors about the server's limits on sessions and processes.
var tooMany = []int{18, 20, 12516, 12518, 12519, 12520}

// missing lists the errors about an object that does not exist or that the account cannot see.
var missing = []int{942, 1031, 4043, 6550, 1950, 904}

const (
	errInterrupted  = 1013 // the user asked to stop
	errNoView       = 942
	errExists       = 955
	errNoFile       = 29283 // UTL_FILE: the file is not there, or the server may not touch it
	errNoFileName   = 29288
	errConnected    = 1940
	errSessions     = 2391 // of a profile
	errRestorePoint = 38881
	errFreeFull     = 12953 // and 12954: the limit of the edition on data
)

// noFile returns what to do if the server does not create a file.
const noFile = "the server cannot create that file: check that the directory of --volume exists on the server " +
	"and that its account may write there"

const freeFull = "this edition holds no more data: use a smaller --size or --work, or another edition"

// remedies lists what a user of Filewise can do about errors, by number.
var remedies = map[int]string{
	1017:            "check user and password",
	28000:           "the account is locked: ask the DBA",
	28001:           "the account's password has expired: change it",
	1045:            "GRANT CREATE SESSION TO the account",
	12514:           "the listener does not have that service: `lsnrctl services` on the server lists them",
	12541:           "no listener answers there: check host and port",
	49:              "the pluggable database's DB_FILES is reached: use fewer files; the DBA raises it, then closes and opens it",
	59:              "DB_FILES is reached: use fewer files; only a restart of the instance by the DBA raises it",
	errFreeFull:     freeFull,
	errFreeFull + 1: freeFull,
	65114:           "the pluggable database's MAX_PDB_STORAGE is reached: use a smaller --size",
	1950:            "GRANT UNLIMITED TABLESPACE TO the account",
	errRestorePoint: "the database has a guaranteed restore point (V$RESTORE_POINT, of any container), which keeps every tablespace: " +
		"have the DBA drop it, then remove this one with `filewise clean --target URL`",
	3214:  "a datafile must be larger: use fewer files or a larger --size",
	1119:  noFile,
	27040: noFile,
	27038: "a file of that name exists: nothing was overwritten; try again",
	2236:  "name the directory with --volume NAME=DIR as the server sees it",
	2199:  "the server has no default directory (db_create_file_dest): name one with --volume NAME=DIR",
	12518: "the listener hands out no more connections: use fewer --connections",
	errSessions: "the profile of the account allows no more sessions (SESSIONS_PER_USER): use fewer --connections, or have the DBA give the " +
		"account another profile",
	18:    "the server takes no more sessions: use fewer --connections",
	20:    "the server takes no more processes: use fewer --connections",
	12516: "the listener hands out no more connections: use fewer --connections",
	12519: "the listener hands out no more connections: use fewer --connections",
	12520: "the listener hands out no more connections: use fewer --connections",
	1940:  "sessions of a copy's user have not ended yet: wait, and remove it with `filewise clean --target URL`",
	31631: "GRANT " + dumpRole + " TO the account",
	39087: "create the directory object, and GRANT READ, WRITE ON DIRECTORY to the account",
	2449:  "a foreign key of another table refers to Filewise's table: drop that key first",
}

// codeOf returns the number of the server's error, or 0 if there is none.
func codeOf(err error) int {
	var e *network.OracleError
	if errors.As(err, &e) {
		return e.ErrCode
	}
	return 0
}

// codeText returns the number as text, or "" if the server sent none.
func codeText(err error) string {
	if n := codeOf(err); n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}

// explain adds to an error its class, its code and what to do about it.
func explain(err error) error {
	if err == nil {
		return nil
	}
	code := codeOf(err)
	class := classes.Of(err, []int{code})
	remedy := remedies[code]
	switch {
	case class == filewise.ClassSpace:
		if remedy == "" {
			remedy = "make --work smaller, or --size larger; or free space on the files' volume"
		}
		err = filewise.Errorf(filewise.CodeTrials, remedy, "%w: %w", filewise.ErrSpace, err)
	case remedy != "":
		if slices.Contains(tooMany, code) {
			err = fmt.Errorf("%w: %w", filewise.ErrConnections, err)
		}
		err = filewise.Errorf(filewise.CodePreflight, remedy, "%w", err)
	}
	return external.Classed(class, err)
}

// unreadable reports whether an object does not exist or the account cannot see it.
func unreadable(err error) bool { return slices.Contains(missing, codeOf(err)) }

// absent returns an error about what Oracle or this server cannot do.
var absent = filewise.Unsupported
