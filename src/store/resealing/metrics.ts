// What each sealing key sealed, for metrics.
import { Gauge, type Registry } from 'prom-client'

const sealedValues = 'sekisho_sealed_values'

/** How many stored values each kind of key sealed; may be called by each process part, also on one registry. */
export function createSealingMetrics(registry: Registry) {
  const found = registry.getSingleMetric(sealedValues)
  const gauge =
    found instanceof Gauge
      ? found
      : new Gauge({
          name: sealedValues,
          help: 'Sealed values in the database by the key that sealed them: the first key of the keyring, a former one, or one that is not in the keyring. Reported by the leader, for the keyring of each process.',
          labelNames: ['keyring', 'key'],
          registers: [registry],
        })
  return (keyring: string, totals: { readonly rows: readonly number[]; readonly unknownKey: number }): void => {
    const [first = 0, ...former] = totals.rows
    gauge.set({ keyring, key: 'first' }, first)
    gauge.set(
      { keyring, key: 'former' },
      former.reduce((sum, rows) => sum + rows, 0),
    )
    gauge.set({ keyring, key: 'unknown' }, totals.unknownKey)
  }
}
