"""Analysis of robots and runs: linearisation, frequency responses, energy ledger, contact models compared."""

from pliant.analysis.bode import Bode, bode
from pliant.analysis.compare_contacts import ContactComparison, compare_contacts
from pliant.analysis.energy_ledger import EnergyLedger, energy_ledger

__all__ = ["Bode", "ContactComparison", "EnergyLedger", "bode", "compare_contacts", "energy_ledger"]
