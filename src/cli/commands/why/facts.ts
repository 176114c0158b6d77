// What `sekisho why` knows when it judges: objects as the person may read them, and the answer of the URL. Values only.
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { CoreEvent, Pod, Service } from '../../../api/builtin/core.ts'
import type { EndpointSlice, Ingress } from '../../../api/builtin/networking.ts'
import type { Deployment } from '../../../api/builtin/workloads.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { ServiceFact } from './service-facts.ts'

/** What a request from this computer to the URL gave. */
export type UrlAnswer =
  | {
      readonly kind: 'response'
      readonly status: number
      readonly milliseconds: number
      readonly noRoute: boolean
      /** Where a redirect leads. */
      readonly location?: string | undefined
    }
  | { readonly kind: 'unresolved'; readonly host: string }
  | { readonly kind: 'untrusted'; readonly host: string }
  | { readonly kind: 'unanswered'; readonly text: string }

export type Facts = {
  readonly now: Date
  readonly namespace: string
  /** What was asked about: the last word of the verdict. */
  readonly subject: { readonly kind: string; readonly name: string }
  readonly application?: Application | undefined
  /** The RemoteSync that builds the image of the Application. */
  readonly remoteSync?: RemoteSync | undefined
  readonly grant?: RepositoryGrant | undefined
  readonly installation?: Installation | undefined
  /** The grants that the Application has as Secrets. */
  readonly secretGrants: readonly RepositoryGrant[]
  /** What the Application uses, or the service or credential that was asked about. */
  readonly services: readonly ServiceFact[]
  readonly deployments: readonly Deployment[]
  readonly pods: readonly Pod[]
  readonly service?: Service | undefined
  readonly endpointSlices: readonly EndpointSlice[]
  readonly ingress?: Ingress | undefined
  /** Warnings about these objects, newest first. */
  readonly warnings: readonly CoreEvent[]
  /** Absent without a URL. */
  readonly answer?: UrlAnswer | undefined
  /** For a domain: what this computer's resolver says. Empty when the name does not exist. */
  readonly addresses?: readonly string[] | undefined
  /** For a domain that the Application redirects: what was asked, and the answer. */
  readonly redirect?: { readonly to: string; readonly url: string; readonly answer: UrlAnswer } | undefined
}
