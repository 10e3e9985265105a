"""Analysis of robots and runs: linearisation, frequency responses, energy ledger, contact models, Allan deviation."""

from pliant.analysis.allan import Allan, allan
from pliant.analysis.bode import Bode, bode
from pliant.analysis.compare_contacts import ContactComparison, compare_contacts
from pliant.analysis.energy_ledger import EnergyLedger, energy_ledger

__all__ = ["Allan", "Bode", "ContactComparison", "EnergyLedger", "allan", "bode", "compare_contacts", "energy_ledger"]
