// Opens surroundings piece by piece: what was opened is closed in the reverse order, also when a later piece cannot be opened.

export type OnClose = (stop: () => unknown) => void

/** What `open` makes, with the `close` of all that it registered. Rejects as `open`, after closing. */
export async function openClosing<T extends object>(
  open: (onClose: OnClose) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  const stops: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    return { ...(await open(stop => void stops.push(stop))), close }
  } catch (error) {
    await close()
    throw error
  }
}
