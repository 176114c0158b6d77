// A value that is derived from another one and needed far more often than that one changes. Pure apart from what it keeps.

/**
 * Returns what `derive` returned for the present value of `source`, and calls it again only when `source` returns another value
 * by identity: values are replaced, never changed. What `derive` throws is not kept.
 */
export function derivedFrom<Source, Derived>(source: () => Source, derive: (present: Source) => Derived): () => Derived {
  let known: { readonly of: Source; readonly derived: Derived } | undefined
  return () => {
    const present = source()
    if (known === undefined || known.of !== present) known = { of: present, derived: derive(present) }
    return known.derived
  }
}
