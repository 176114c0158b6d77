// Owns: environments: made by hand or by the first deployment that names one.
import { timestamp } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Environment } from '../state/checks.ts'
import type { Repository } from '../state/repositories.ts'
import { nextId } from '../state/world.ts'

/** The environment of this name, made if there is none. Names are compared without case. */
export const ensureEnvironment = (context: Context, repository: Repository, name: string): Environment => {
  const known = environmentByName(context, repository, name)
  if (known) return known
  const at = timestamp(context.now())
  return context.store.change(world => {
    const made: Environment = { id: nextId(world), repositoryId: repository.id, name, createdAt: at, updatedAt: at }
    world.environments.push(made)
    return made
  })
}

export const environmentByName = ({ world }: Context, repository: Repository, name: string): Environment | undefined =>
  world.environments.find(one => one.repositoryId === repository.id && one.name.toLowerCase() === name.toLowerCase())

/** Removes the environment; deployments to it stay. */
export const deleteEnvironment = (context: Context, environment: Environment): void =>
  context.store.change(world => {
    world.environments = world.environments.filter(one => one !== environment)
  })
