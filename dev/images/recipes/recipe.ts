// The inputs of every recipe. A recipe decides what an image contains; packing, caching and pushing happen elsewhere.

import type { RunCommand } from '../../cluster/run-command.ts'
import type { PackageSource } from '../debian/package-source.ts'
import type { ImagePlan } from '../image/image-plan.ts'
import type { NodeSource } from '../node-source.ts'

export type RecipeDeps = {
  readonly repositoryFolder: string
  readonly cacheFolder: string
  /**
   * The certificate of the cluster's authority, by which builds and kpack trust the registry's token server; absent without a
   * cluster.
   */
  readonly authorityFile?: string
  readonly packages: PackageSource
  readonly node: NodeSource
  readonly run: RunCommand
  readonly step: (message: string) => void
  /** The path of a program of dev/cluster, built or downloaded when it is missing. */
  readonly binary: (entry: 'lifecycle' | 'kpack' | 'buildkit', program: string) => Promise<string>
}

export type Recipe = (deps: RecipeDeps) => Promise<ImagePlan>
