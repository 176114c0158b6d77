// Where an Application's manifests come from: its chart is rendered and what it gave is checked. Those of the Applications that were looked
// at last are kept: every object that is made wakes its Application again, and that look must not cost another rendering. A chart sees
// no clock and no cluster (chart-input.ts), so equal questions have equal answers. Refusals are never kept: another try may go well.
import { type Application, applicationReasons } from '../../../api/apps/application.ts'
import type { ChartRenderer } from '../../../charts/renderer.ts'
import type { Decision, Refusal } from '../decide.ts'
import { desiredManifests, type Manifest } from '../desired.ts'

export type Manifests =
  | { readonly kind: 'wanted'; readonly manifests: readonly Manifest[] }
  | ({ readonly kind: 'refused' } & Refusal)

export type ManifestSource = {
  /** Rejects only when the renderer has stopped. The message of a refusal does not name the chart. */
  readonly of: (application: Application, decision: Extract<Decision, { kind: 'render' }>) => Promise<Manifests>
}

const mostKept = 256
/** Of one rendering: 16 MB of text in all, and a usual one has 3 KB. */
const longestKept = 65_536

type Kept = { readonly question: string; readonly manifests: Manifests }

export function createManifestSource(renderer: Pick<ChartRenderer, 'render'>): ManifestSource {
  const kept = new Map<string, Kept>()

  function keep(uid: string, entry: Kept): void {
    kept.delete(uid)
    kept.set(uid, entry)
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
  }

  return {
    async of(application, { source, input, timeoutMilliseconds }) {
      const { uid = '' } = application.metadata
      const name = source.kind === 'built-in' ? source.name : ''
      const question = JSON.stringify([source.kind, name, source.revision, input])
      const held = kept.get(uid)
      if (held?.question === question) {
        keep(uid, held)
        return held.manifests
      }
      kept.delete(uid)
      const rendering = await renderer.render(source, input, timeoutMilliseconds)
      if (rendering.kind !== 'rendered') return { kind: 'refused', reason: reasons[rendering.kind], message: rendering.message }
      const manifests = desiredManifests(application, rendering.objects)
      if (manifests.kind === 'refused') return { ...manifests, reason: applicationReasons.chartFailed }
      if (rendering.length <= longestKept) keep(uid, { question, manifests })
      return manifests
    },
  }
}

const reasons = { failed: applicationReasons.chartFailed, 'timed-out': applicationReasons.chartTimedOut } as const
