// One Builder of several: the request chooses which of them starts a build, and a build is found again where it is, also after
// another one has taken over its strategy. Names of builds follow from their strategy among other inputs, so no two builders have
// builds of one name for one owner.
import { compareText } from '../../lib/text/compare-text.ts'
import type { Builder, BuildKey, BuildRequest, BuildState } from './builder.ts'

/** `choose` returns one of `all`. */
export function chooseBuilder(all: readonly Builder[], choose: (request: BuildRequest) => Builder | Promise<Builder>): Builder {
  const holding = (key: BuildKey): Builder | undefined => all.find(builder => builder.known(key))
  const absent: BuildState = { kind: 'absent' }

  return {
    start: async request => (await choose(request)).start(request),
    async observe(key, owner) {
      const holder = holding(key)
      if (holder !== undefined) return holder.observe(key, owner)
      // A build that was created just now is not in a cache yet.
      const states = await Promise.all(all.map(builder => builder.observe(key, owner)))
      return states.find(state => state.kind !== 'absent') ?? absent
    },
    async cancel(key) {
      const holder = holding(key)
      await Promise.all((holder === undefined ? all : [holder]).map(builder => builder.cancel(key)))
    },
    ofOwner: owner =>
      all.flatMap(builder => builder.ofOwner(owner)).sort((a, b) => compareText(b.createdAt ?? '', a.createdAt ?? '')),
    ofKey: (kind, key) => all.flatMap(builder => builder.ofKey(kind, key)),
    running: () => all.flatMap(builder => builder.running()),
    logged: () => all.flatMap(builder => builder.logged()),
    known: key => holding(key) !== undefined,
  }
}
