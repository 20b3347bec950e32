package main

import (
	"filewise/engine/all"
	"filewise/plan"
)

// engines are those of the registry, the default first. Tests add one.
var engines = all.Engines

// registry are the engines that experiments can be planned on.
func registry() plan.Engines { return engines() }
