// The plan of an image: layers from bottom to top and its configuration. Data only; recipes make it, assemble reads it.
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
  /** A function of the layers, because a buildpack image names the diff ids of its layers in a label. */
  readonly config: (layers: readonly Layer[]) => ImageConfig
}

/** Where Debian, Node, Go, git and curl look for the certificate authorities of our base layer. */
export const certificateBundle = '/etc/ssl/certs/ca-certificates.crt'

export const searchPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'
