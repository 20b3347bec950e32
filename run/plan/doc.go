// Package plan makes an experiment.Plan of options. Options are one struct, which flags, study files, "filewise
// doctor" and tests fill equally. Options.Table gives each its name: the flag's, the variable's (FILEWISE_NAME) and
// the key in study files. Nothing is built or opened here.
package plan
