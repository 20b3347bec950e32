// Package plan makes an experiment.Plan from options. Flags, study files, "filewise doctor" and tests all fill the same
// struct. Options.Table gives each option its name, which is the flag's, the variable's (FILEWISE_NAME) and the key in
// study files. Nothing is built or opened here.
package plan
