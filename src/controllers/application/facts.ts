// What decides about an Application: plain values, read at one time by gather.ts. Types only.
import type { Pod } from '../../api/builtin/index.ts'
import type { ChartLookup } from '../../services/charts/chart-source.ts'
import type { RegistryPlace } from '../../services/registry/image-place.ts'
import type { HostFacts } from './domains/hosts.ts'
import type { ImageFacts } from './image/image-facts.ts'
import type { ObjectFacts } from './objects/apply-objects.ts'
import type { ReleaseFacts } from './releases/release-content.ts'
import type { PodAccount } from './rendering/account.ts'
import type { SecretFacts } from './secrets/secret-checks.ts'
import type { ServiceFacts } from './services/service-facts.ts'

/** The platform's image registry, and the Secret with which pods pull from it; none when it asks for no credential. */
export type ImageRegistry = { readonly place: RegistryPlace; readonly pullSecret: string | undefined }

/** Each folder knows its own part. */
export type Facts = HostFacts &
  ImageFacts &
  ObjectFacts &
  PodAccount &
  ServiceFacts & {
    readonly registry: ImageRegistry
    /** The ClusterIssuers that Applications may name. */
    readonly certificateIssuers: readonly string[]
    /** Its ApplicationChart, and where the code of that is; undefined when there is no ApplicationChart of that name. */
    readonly chart: { readonly timeoutSeconds: number; readonly lookup: ChartLookup } | undefined
    readonly secrets: SecretFacts
    /** Of its processes. */
    readonly pods: readonly Pod[]
    readonly releases: ReleaseFacts
  }
