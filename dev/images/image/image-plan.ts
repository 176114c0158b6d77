// What an image is before it is built: layers from bottom to top and its configuration. Pure data; recipes make it, assemble reads it.
import type { Layer, LayerPlan } from '../blobs/build-layer.ts'

export type ImageConfig = {
  readonly user: string
  readonly environment: Readonly<Record<string, string>>
  readonly workingFolder?: string
  readonly entrypoint?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
}

export type ImagePlan = {
  /** Repository inside the registry, for example `cnb/build`. */
  readonly repository: string
  readonly tag: string
  readonly layers: readonly LayerPlan[]
  /** A function, because buildpack images name their own layers' diff ids in a label. */
  readonly config: (layers: readonly Layer[]) => ImageConfig
}

/** Where Debian, Node, Go, git and curl look for the certificate authorities that our base layer carries. */
export const certificateBundle = '/etc/ssl/certs/ca-certificates.crt'

export const searchPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'
