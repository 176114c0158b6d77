// What a measured process says of itself, in the text format of Prometheus.
import type { MeasuredProcess } from '../memory/measured-process.ts'

export async function metricsOf({ healthUrl }: Pick<MeasuredProcess, 'healthUrl'>): Promise<string> {
  return (await fetch(`${healthUrl}/metrics`)).text()
}

/** Of all series of this metric whose labels contain `label`, such as `purpose="guard"`. Zero when there is none. */
export function sumOf(metrics: string, name: string, label = ''): number {
  const series = metrics.matchAll(new RegExp(`^${name}(\\{[^}]*\\})? (\\S+)$`, 'gm'))
  return [...series].reduce((sum, [, labels = '', value]) => sum + (labels.includes(label) ? Number(value) : 0), 0)
}
