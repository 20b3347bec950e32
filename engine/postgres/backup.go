package postgres

import "filewise"

func (d *design) checkBackup() error                { return filewise.ErrUnsupported }
func (d *design) backupSteps(filewise.Act) []string { return nil }
