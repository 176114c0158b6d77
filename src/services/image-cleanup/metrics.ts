// What is counted of the images that builds pushed.
import { Counter, Gauge, type Registry } from 'prom-client'

const results = ['kept', 'unused', 'deleted', 'postponed', 'refused'] as const
/** `unused`: not for long enough. `postponed`: something could not be said for certain. `refused`: by the registry. */
export type ImageResult = (typeof results)[number]

export type ImageMetrics = {
  readonly count: (result: ImageResult, number?: number) => void
  /** Parts of the registry in which nothing is deleted, because it was refused. */
  readonly resting: (parts: number) => void
}

/** Register it once per registry. */
export function createImageMetrics(registry: Registry): ImageMetrics {
  const registers = [registry]
  const images = new Counter({
    name: 'sekisho_registry_images_total',
    help: 'Images in the registry that were looked at: kept (something names them), unused (not for long enough), deleted, postponed (something could not be read), or refused (by the registry).',
    labelNames: ['result'],
    registers,
  })
  for (const result of results) images.inc({ result }, 0)
  const resting = new Gauge({
    name: 'sekisho_registry_deletion_refused',
    help: 'Parts of the registry (the whole of it, or those of single tenants) where unused images stay because it refused to delete one.',
    registers,
  })
  return { count: (result, number = 1) => images.inc({ result }, number), resting: parts => resting.set(parts) }
}
