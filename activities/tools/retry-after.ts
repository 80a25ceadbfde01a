// The Retry-After header in ms. Whole seconds, as services send them; dates are not read.

export function retryAfterOf(header: string | null | undefined): number | null {
  return header != null && /^\d{1,7}$/.test(header.trim()) ? Number(header) * 1_000 : null;
}
