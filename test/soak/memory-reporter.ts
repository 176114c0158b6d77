// Loaded into the platform's process before the platform (`node --import`): on a message of its parent it collects garbage and
// answers with the memory in use. Without the collection, a slope over some minutes describes the collector's schedule rather
// than a leak.
if (globalThis.gc === undefined) throw new Error('memory is measured after a collection: start with --expose-gc')
const collect = globalThis.gc

process.on('message', () => {
  // Twice: Buffers that the first collection frees are counted until the second one begins.
  collect()
  collect()
  process.send?.(process.memoryUsage())
})
// Waiting for messages must not keep the process running.
process.channel?.unref()
