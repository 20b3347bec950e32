// Package plan makes an experiment.Plan of options. Options are one struct, which
// flags, study files, "filewise doctor" and tests fill alike; Options.Table gives
// each its name, which is that of the flag, of the variable (FILEWISE_NAME) and of
// the key in study files. Nothing is built or opened here.
package plan
