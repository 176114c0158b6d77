// Loaded into the platform's process before the platform (`node --import`): collects garbage when its parent asks, and answers with what
// lives then. Without that, a slope of some minutes says more about the moods of the collector than about a leak. It does nothing else.
if (globalThis.gc === undefined) throw new Error('memory is measured after a collection: start with --expose-gc')
const collect = globalThis.gc

process.on('message', () => {
  collect()
  process.send?.(process.memoryUsage())
})
// Who is asked questions does not live for them.
process.channel?.unref()
