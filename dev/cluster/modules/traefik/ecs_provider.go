// Package ecs stands in for Traefik's provider for Amazon ECS. The local cluster has no tasks of it.
package ecs

import (
	"errors"

	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/safe"
)

// Provider is what the static configuration names.
type Provider struct{}

// Init always fails.
func (p *Provider) Init() error {
	return errors.New("this build of Traefik has no provider for Amazon ECS")
}

// Provide is never reached, because Init fails.
func (p *Provider) Provide(chan<- dynamic.Message, *safe.Pool) error {
	return p.Init()
}
