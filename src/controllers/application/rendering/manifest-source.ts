// Where an Application's manifests come from: its chart is rendered and the result is checked. The manifests of the
// Applications reconciled last are kept: every object that is created wakes its Application again, and that reconcile must not
// cost another rendering. A chart sees neither clock nor cluster (src/services/charts/chart-input.ts), so equal input renders
// equal objects. Refusals are not kept: a retry may succeed.
import { type Application, applicationReasons } from '../../../api/apps/application.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { ChartInput, ChartSource } from '../../../services/charts/chart-input.ts'
import type { ChartRenderer } from '../../../services/charts/renderer.ts'
import type { RedirectGroup } from '../domains/redirects.ts'
import type { Reach } from '../services/service-facts.ts'
import type { PodAccount } from './account.ts'
import type { PodServices } from './bound-pods.ts'
import { desiredManifests, type Manifest } from './desired.ts'

export type Manifests =
  | { readonly kind: 'wanted'; readonly manifests: readonly Manifest[] }
  | ({ readonly kind: 'refused' } & Refusal)

/** What to render. */
export type Render = PodAccount &
  PodServices & {
    readonly source: ChartSource
    readonly input: ChartInput
    /** What the platform adds to what the chart renders. */
    readonly redirects: readonly RedirectGroup[]
    /** Absent when its pods reach no service. */
    readonly reach?: readonly Reach[]
    readonly timeoutMilliseconds: number
  }

/** Renders, or returns what equal input rendered before. */
export type ManifestSource = {
  /** The manifests, or why there are none. Rejects only after the renderer has stopped. */
  readonly of: (application: Application, render: Render) => Promise<Manifests>
}

const maxKept = 256
/** In UTF-16 units of a rendering's JSON: 16 MB for all that is kept; a usual rendering has 3 KB. */
const maxKeptLength = 65_536

const reasons = { failed: applicationReasons.chartFailed, 'timed-out': applicationReasons.chartTimedOut } as const

function refused({ spec }: Application, reason: string, message: string): Manifests {
  return { kind: 'refused', reason, message: `ApplicationChart ${spec.chart}: ${message}` }
}

// Memory (rendered manifests): uid of an Application → chart revision and input, and what they rendered
//   life: until 256 other Applications were rendered
//   bound: 256 entries of at most 64 KB
//   freshness: another input or revision
//   replicas: leader only; the same input renders the same
/** Keeps the manifests of the 256 Applications used last, by uid. */
export function createManifestSource(renderer: Pick<ChartRenderer, 'render'>): ManifestSource {
  const kept = new BoundedMap<{ readonly renderedFrom: string; readonly manifests: Manifests }>(maxKept)

  return {
    async of(application, { source, input, redirects, account, tokens, bound, reach, timeoutMilliseconds }) {
      const { uid = '' } = application.metadata
      const name = source.kind === 'built-in' ? source.name : ''
      const renderedFrom = JSON.stringify([source.kind, name, source.revision, input, redirects, account, tokens, bound, reach])
      const held = kept.get(uid)
      if (held?.renderedFrom === renderedFrom) {
        kept.set(uid, held)
        return held.manifests
      }
      kept.delete(uid)
      const rendering = await renderer.render(source, input, timeoutMilliseconds)
      if (rendering.kind !== 'rendered') return refused(application, reasons[rendering.kind], rendering.message)
      const manifests = desiredManifests(application, rendering.objects, {
        ...input,
        redirects,
        ...{ account, tokens, bound, reach },
      })
      if (manifests.kind === 'refused') return refused(application, reasons.failed, manifests.message)
      if (rendering.length <= maxKeptLength) kept.set(uid, { renderedFrom, manifests })
      return manifests
    },
  }
}
